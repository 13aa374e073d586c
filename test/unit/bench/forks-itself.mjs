import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Both stay until the channel to who started them is closed.
process.on('message', () => undefined);
if (process.argv[2] === 'parent') process.send?.(fork(fileURLToPath(import.meta.url)).pid);
