import { expect, test } from 'vitest';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { createOriginLog } from '../../../src/telemetry/origin-log.ts';

test('an origin that is refused is warned of once a minute, and no flood of them fills the log', () => {
  const warned: unknown[] = [];
  let now = 0;
  const log = { warn: (fields: unknown) => warned.push(fields) } as unknown as Logger;
  const refused = createOriginLog(log, () => now);
  for (let time = 0; time < 3; time += 1) refused('https://app.example');
  refused('https://other.example');
  expect(warned).toEqual([{ origin: 'https://app.example' }, { origin: 'https://other.example' }]);
  now = 60_000;
  for (let made = 0; made < 1_000; made += 1) refused(`https://${String(made)}.example`);
  expect(warned).toHaveLength(22);
  now = 120_000;
  refused('https://app.example');
  expect(warned.at(-1)).toEqual({ origin: 'https://app.example' });
});
