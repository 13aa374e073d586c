import { appendFileSync, rmSync } from 'node:fs';

/** Everything that was done in a run, in order, for the report of a difference. */
export interface Journal {
  readonly lines: readonly string[];
  /** How often each code came. */
  readonly codes: Map<string, number>;
  /** Answers that no client should ever get. */
  readonly faults: string[];
  write(line: string): void;
}

/** @param file where every line is written at once, for somebody who looks on; null: nowhere */
export function openJournal(file: string | null): Journal {
  const lines: string[] = [];
  if (file !== null) rmSync(file, { force: true });
  return {
    lines,
    codes: new Map(),
    faults: [],
    write(line) {
      lines.push(line);
      if (file !== null) appendFileSync(file, `${line}\n`);
    },
  };
}
