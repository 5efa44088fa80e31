// Sends the form that carries the answer to the application. Without it, the person presses the button.
"use strict";

HTMLFormElement.prototype.submit.call(document.getElementById("form-post"));
