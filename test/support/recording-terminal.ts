import { Writable } from 'node:stream';
import type { Terminal } from '../../src/app/command-shapes.ts';

/** A terminal nobody watches, with what was said to it. */
export function recordingTerminal() {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const terminal: Terminal = {
    out: (line) => void stdout.push(line),
    note: (line) => void stderr.push(line),
    isInteractive: false,
    mute: () => undefined,
    stderr: new Writable({
      write(chunk: Buffer, _encoding, done) {
        stderr.push(chunk.toString());
        done();
      },
    }),
  };
  return { terminal, stdout, stderr };
}
