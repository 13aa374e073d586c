import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import config from '../../vitest.config.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const inTier = (script: string): string[] =>
  [...(scripts[script] ?? '').matchAll(/--project (\w+)/g)].map(([, name = '']) => name);

test('every project of tests runs in one of the two tiers', () => {
  const { projects = [] } = config.test ?? {};
  const names = projects.map((project) =>
    typeof project === 'object' && 'test' in project ? project.test.name : project,
  );
  expect([...inTier('test'), ...inTier('test:rest')].sort()).toEqual([...names].sort());
});
