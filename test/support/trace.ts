export { readTrace, type Trace } from '../../parts/demo/src/trace.ts';

export function* chunksOf<T>(entries: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < entries.length; at += size) yield entries.slice(at, at + size);
}
