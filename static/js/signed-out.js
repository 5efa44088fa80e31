// Goes back to the application once all frames are there, or after five seconds whatever they do. Without it,
// the browser goes on by itself a little later, and the link works at any time.
"use strict";

const LIMIT_MS = 5000;
const back = document.getElementById("back");

// Once the person has signed out, this page is no place to come back to.
const go = () => location.replace(back.href);

// The window has loaded when its frames have, those that failed included.
addEventListener("load", go);
setTimeout(go, LIMIT_MS);
