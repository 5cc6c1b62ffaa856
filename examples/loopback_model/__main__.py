"""Serve the model: `python -m examples.loopback_model --port 0` prints its base URL first."""

from examples.loopback_model.serve import make_parser, serve

if __name__ == "__main__":
    serve(make_parser("examples.loopback_model", __doc__).parse_args())
