"""Reference programs for the bench, KernelBench problems as text: kernels of about 10 us, 100 us and 3 ms on an H200."""

_HEAD = "import torch\nimport torch.nn as nn\n\n\n"


def problem(body: str, inputs: str) -> str:
    """A problem whose forward is `body` over `xs` and whose inputs are the list expression `inputs`."""
    return (
        f"{_HEAD}class Model(nn.Module):\n    def forward(self, *xs):\n        {body}\n\n\n"
        f"def get_inputs():\n    return {inputs}\n\n\ndef get_init_inputs():\n    return []\n"
    )


PROBLEMS = {
    "relu_10us": problem("return torch.relu(xs[0])", "[torch.rand(4 * 2**20) - 0.5]"),
    "relu_100us": problem("return torch.relu(xs[0])", "[torch.rand(50 * 2**20) - 0.5]"),
    "softmax_100us": problem("return torch.softmax(xs[0], dim=-1)", "[torch.rand(8192, 4096)]"),
    "layernorm_100us": problem("return nn.functional.layer_norm(xs[0], xs[0].shape[-1:])", "[torch.rand(8192, 4096)]"),
    "matmul_3ms": problem("return xs[0] @ xs[1]", "[torch.rand(4096, 4096), torch.rand(4096, 4096)]"),
}
