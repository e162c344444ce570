"""The launch kit: `launch_kit(option, request, catalog) -> LaunchKit`."""

from tools.launch.kit import launch_kit

__all__ = ["launch_kit"]
