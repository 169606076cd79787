"""The trusted process of one device: it alone holds the inputs before GO, the expected outputs, the clock and the comparison."""
