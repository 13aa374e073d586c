import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const PACKAGES = [
  '',
  ...['apollo', 'client', 'elements', 'local-engine', 'react', 'urql'].map((name) => `packages/${name}/`),
];
const { jobs } = parse(read('.github/workflows/ci.yml')) as {
  readonly jobs: {
    readonly ci: { readonly strategy: { readonly matrix: { readonly node: readonly number[] } } };
  };
};
const tested = jobs.ci.strategy.matrix.node;
const recommended = Math.max(...tested);

test('all packages allow the releases of Node that the workflow runs, from the versions that the README names', () => {
  for (const path of PACKAGES) {
    const { engines } = JSON.parse(read(`${path}package.json`)) as {
      readonly engines: { readonly node: string };
    };
    expect([path, engines.node]).toEqual([path, '^20.19 || >=22.12']);
  }
  expect(tested).toEqual([20, 22, 24]);
  expect(read('README.md')).toContain(`Node ${String(recommended)} (20.19, 22.12 and newer work too)`);
});

test('the image and the other workflows run the newest of them', () => {
  const images = ['Dockerfile', '.github/workflows/deep.yml', '.github/workflows/release.yml'].flatMap(
    (path) => [...read(path).matchAll(/\bnode:(\d+)/g)].map(([, major]) => [path, Number(major)]),
  );
  expect(images.length).toBeGreaterThan(4);
  expect(images).toEqual(images.map(([path]) => [path, recommended]));
});
