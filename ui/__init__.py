"""The Gradio page: events to messages, reports to tables and plots."""
