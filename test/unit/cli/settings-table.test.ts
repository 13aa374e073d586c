import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { givenSettings, settingsMarkdown, settingsTable } from '../../../src/cli/settings-table.ts';
import { SETTINGS } from '../../../src/config/settings.ts';

describe('the table of settings', () => {
  it('lists every setting with its default and meaning', () => {
    const markdown = settingsMarkdown();
    expect(markdown).toHaveLength(Object.keys(SETTINGS).length + 2);
    expect(markdown).toContain('| `PORT` | 4000 | Port to listen on; 0 takes a free one. |');
    const table = settingsTable({}).join('\n');
    for (const name of Object.keys(SETTINGS)) expect(table).toContain(`  ${name} `);
  });

  it('stands in the README as it is', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
    const [, table = ''] = /<!-- settings -->\n([^]*)<!-- \/settings -->/.exec(readme) ?? [];
    const cells = (line: string) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/^-+$/, '---'));
    expect(table.trim().split('\n').map(cells)).toEqual(settingsMarkdown().map(cells));
  });

  it('shows what is set, without secrets', () => {
    const env = {
      PORT: '1',
      HOST: '',
      JWT_SECRET: 'hunter2',
      MONGODB_URI: 'mongodb://bob:hunter2@db/',
      OTHER: 'x',
    };
    expect(givenSettings(env)).toEqual([
      'PORT=1',
      'JWT_SECRET=(secret, not shown)',
      'MONGODB_URI=mongodb://bob:***@db/',
    ]);
    expect(settingsTable(env).join('\n')).not.toContain('hunter2');
  });
});
