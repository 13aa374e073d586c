// Runs a command beside so many busy loops, to see that it also works on a machine that has no time for it:
// node scripts/busy.js 8 -- npm test. The loops are threads of this process, so that they end with it, however it ends.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';

const [count, separator, command, ...args] = process.argv.slice(2);
const loops = Number(count);
if (!Number.isInteger(loops) || loops < 0 || loops > 1_000 || separator !== '--' || command === undefined) {
  console.error('Usage: node scripts/busy.js <number of loops> -- <command> [arguments]');
  process.exit(2);
}

const child = spawn(command, args, { stdio: 'inherit' });
child.once('error', (error) => {
  console.error(`${command} cannot be run: ${error.message}`);
  process.exit(127);
});
child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    // A terminal sends Ctrl-C to both.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
for (let n = 0; n < loops; n += 1) new Worker('for (;;);', { eval: true });
