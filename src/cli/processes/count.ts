import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';

const MOST = 256;

/** Parses `--processes`: a number, or `auto` for the number of cores. */
export function processCount(text: string): number {
  const value = text === 'auto' ? availableParallelism() : Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MOST)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${String(MOST)}, or auto.`);
  return value;
}
