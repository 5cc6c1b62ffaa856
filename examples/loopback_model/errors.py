"""What the model refuses, in the vendor's format."""

from collections.abc import Mapping


class RequestError(Exception):
    """A request that gets an HTTP error instead of an answer.

    Attributes:
        message: What is wrong, for a person.
        param: Path of the part at fault, such as `messages[3].tool_call_id`.
        code: The vendor's name of the error, if it has one.
        status: The HTTP status.
    """

    def __init__(
        self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.status = status

    def body(self) -> Mapping[str, object]:
        """The JSON body of the HTTP error."""
        return {
            "error": {
                "message": self.message,
                "type": "invalid_request_error",
                "param": self.param,
                "code": self.code,
            }
        }
