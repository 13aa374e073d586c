import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withHostConfig } from '../../src/cli/host-config-file.ts';
import { createProgram } from '../../src/cli/program.ts';
import { FEATURES } from '../../src/app/features.ts';
import { reasonFor, reportFailure } from '../../src/cli/report-failure.ts';
import { descriptorOfType } from '../../src/descriptors/registry.ts';
import { recordingTerminal } from '../support/recording-terminal.ts';
import { commandContext } from '../support/command-context.ts';

const FILES = {
  'good.ts': `
    import { defineConfig, defineDescriptor, field } from '@fanfare/server';
    import { REPO } from './repo.ts';
    export default defineConfig({
      packs: [],
      reactions: ['👍', '😕'],
      descriptors: [
        defineDescriptor('BuildFailed', {
          description: 'A build broke.',
          fields: { repoId: field.ref(REPO, { label: 'repoName' }), repoName: field.text() },
          summary: { en: '{actor} broke {repoId}' } satisfies object,
        }),
      ],
    });`,
  'repo.ts': `export const REPO: string = 'repo';`,
  'faulty.mjs': `export default { packs: ['no'], descriptors: [{ type: 'x' }] };`,
  'broken.js': `export default {`,
  'throwing.ts': `import { tableOf } from './table.ts';\nexport default { packs: tableOf() };`,
  'table.ts': `export function tableOf(): never {\n  throw new Error('No such table');\n}`,
  'empty.mjs': `export const config = {};`,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fanfare-config-'));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

const { terminal } = recordingTerminal();
const load = (name: string, env: Record<string, string> = {}) =>
  withHostConfig(
    commandContext({ env: { FANFARE_CONFIG: join(folder, name), ...env }, terminal }),
    undefined,
  );

async function whyNot(name: string): Promise<string> {
  try {
    await load(name);
  } catch (error) {
    return reasonFor(error);
  }
  throw new Error('It was loaded');
}

describe('a configuration file', () => {
  test('can be TypeScript or JavaScript and import the server and neighbouring files', async () => {
    const { env } = await load('good.ts');
    expect(descriptorOfType('BuildFailed')?.refFields).toEqual([
      { name: 'repoId', type: 'repo', label: 'repoName' },
    ]);
    expect(descriptorOfType('Posted')).toBeUndefined();
    expect(env['REACTIONS']).toBe('👍,😕');
  });

  test('is overridden by the environment', async () => {
    const { env } = await load('good.ts', { REACTIONS: '🎉' });
    expect(env['REACTIONS']).toBe('🎉');
  });

  test('is named in the error, with all its faults', async () => {
    const reason = await whyNot('faulty.mjs');
    expect(reason).toMatch(/faulty\.mjs has \d faults:\n {2}packs\[0\]: /);
    expect(reason).toContain('  descriptors[0] x.fields: ');
    expect(reason).toContain('  descriptors[0] x.summary: ');
    expect(reason).toMatch(/docs\/descriptors\.md in the package @fanfare\/server$/);
  });

  test.each([
    ['broken.js', /broken\.js cannot be loaded: /],
    ['empty.mjs', /empty\.mjs has no default export$/],
    ['absent.ts', /The configuration .*absent\.ts does not exist$/],
  ])('%s is refused', async (name, message) => {
    expect(await whyNot(name)).toMatch(message);
  });

  test('that throws is named with its message, and with the position if LOG_LEVEL=debug', async () => {
    const error: unknown = await load('throwing.ts').catch((thrown: unknown) => thrown);
    const said = (env: Record<string, string>): string => {
      const recorded = recordingTerminal();
      expect(reportFailure({ env, terminal: recorded.terminal }, error)).toBe(1);
      return recorded.stderr.join('\n');
    };
    expect(said({})).toMatch(/throwing\.ts cannot be loaded: No such table$/);
    expect(said({ LOG_LEVEL: 'debug' })).toMatch(
      /Caused by: Error: No such table\n +at tableOf .*table\.ts:2/,
    );
  });

  test('is optional: without one nothing changes', async () => {
    const context = commandContext({ env: {}, terminal });
    expect(await withHostConfig(context, undefined)).toBe(context);
  });
});

describe('fanfare schema', () => {
  async function run(...args: string[]): Promise<string> {
    const { terminal: recorded, stdout } = recordingTerminal();
    const program = await createProgram(
      commandContext({ env: {}, terminal: recorded }),
      FEATURES,
      () => undefined,
    );
    await program.parseAsync(['node', 'fanfare', ...args]);
    return stdout.join('\n');
  }

  test("prints the API's schema with the configured types", async () => {
    const sdl = await run('schema', '--config', join(folder, 'good.ts'));
    expect(sdl).toContain('type BuildFailedDescriptor implements ActionDescriptor {');
    expect(sdl).toMatch(
      /input DescriptorInput @oneOf \{[^}]*buildFailed: BuildFailedInput\n[^}]*custom: CustomInput\n\}/,
    );
  });
});
