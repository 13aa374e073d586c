import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);

test('every test file with tenants has its own process', () => {
  const config = readFileSync(new URL('vitest.config.ts', root), 'utf8');
  const [, listed = ''] = /const tenants = \[([^\]]*)\]/.exec(config) ?? [];
  const names = [...listed.matchAll(/'([^']+)'/g)].map(([, name]) => name);
  const serving = readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.startsWith('unit/'))
    .map((path) => `test/${path}`)
    .filter((path) => readFileSync(new URL(path, root), 'utf8').includes('TENANT_CLAIM'));
  expect(names.toSorted()).toEqual(serving.toSorted());
});
