import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { givenSettings, settingsMarkdown, settingsTable } from '../../../parts/operators/src/doctor.ts';
import { BROUGHT } from '../../../src/app/brought.ts';
import { SETTING_NAMES } from '../../support/setting-names.ts';

describe('the table of settings', () => {
  it('lists every setting with its default and meaning', () => {
    const markdown = settingsMarkdown(BROUGHT);
    expect(markdown.filter((line) => line.startsWith('| `'))).toHaveLength(SETTING_NAMES.length);
    expect(markdown).toContain('| `PORT` | 4000 | Port to listen on; 0 takes a free one. |');
    const table = settingsTable(BROUGHT, {}).join('\n');
    for (const name of SETTING_NAMES) expect(table).toContain(`  ${name} `);
  });

  it('matches docs/configuration.md (npm run settings writes it)', async () => {
    const document = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, tables = ''] = /<!-- settings: [^\n]*-->\n([^]*)<!-- \/settings -->/.exec(document) ?? [];
    const cells = (line: string) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/^-+$/, '---'));
    const filled = (lines: readonly string[]) => lines.filter((line) => line.trim() !== '').map(cells);
    expect(filled(tables.split('\n'))).toEqual(filled(settingsMarkdown(BROUGHT)));
  });

  it('shows set values, without secrets', () => {
    const env = {
      PORT: '1',
      HOST: '',
      JWT_SECRET: 'hunter2',
      MONGODB_URI: 'mongodb://bob:hunter2@db/',
      OTHER: 'x',
    };
    expect(givenSettings(BROUGHT, env)).toEqual([
      'PORT=1',
      'JWT_SECRET=(secret, not shown)',
      'MONGODB_URI=mongodb://bob:***@db/',
    ]);
    expect(settingsTable(BROUGHT, env).join('\n')).not.toContain('hunter2');
  });
});
