import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const tests = new URL('../', import.meta.url);
/** The folders whose files share processes. One that has once served tenants takes ids with a tenant ever after. */
const SHARING = /^(conformance|integration|e2e)\//;

test('every test file with tenants has its own process', () => {
  const sharing = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && SHARING.test(path))
    .filter((path) => readFileSync(new URL(path, tests), 'utf8').includes('TENANT_CLAIM'));
  expect(sharing).toEqual([]);
});
