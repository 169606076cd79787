"""The story: one candidate from its source to its verdict, and many of them. Read candidate.py first."""
