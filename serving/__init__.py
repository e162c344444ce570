"""HTTP for programs: health, OpenAPI, chat and calculators beside the page."""
