"""The only place that starts processes: fork server, referee, workers, and the watch over all of them. No torch, no CUDA."""
