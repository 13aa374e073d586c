// What is measured is the build, as a package or an image has it: the loader that runs the sources of a checkout as they
// are gives every function its name by a call, each time it is made, and an object of 256 bytes.
import { register } from 'node:module';

register('./built-hooks.js', import.meta.url);
