import { expect, it } from 'vitest';
import { logIndexesCreated } from '../../../src/telemetry/events.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';

it.each([
  ['info', 1],
  ['debug', 2],
] as const)('at level %s the indexes of a first start take %i line(s)', (level, lines) => {
  const written: string[] = [];
  const indexes = Array.from({ length: 44 }, (_, n) => `collection.index${n}`);
  logIndexesCreated(createLogger({ level, sink: { write: (line) => void written.push(line) } }), { indexes });
  expect(written).toHaveLength(lines);
  expect(written[0]).toContain('"count":44');
  expect(written[0]).not.toContain('collection');
});
