"""Multiply two matrices and return the product as fp16."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, w):
        return (x @ w).half()
