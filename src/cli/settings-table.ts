import type { Environment } from '../config/env.ts';
import type { Setting } from '../config/setting.ts';
import { SETTINGS } from '../config/settings.ts';
import { redact } from '../lib/redact.ts';

const entries: readonly (readonly [string, Setting])[] = Object.entries(SETTINGS);

/** Settings given by the environment, as `NAME=value`, without secrets. */
export function givenSettings(env: Environment): string[] {
  return entries.flatMap(([name, setting]) => {
    const value = env[name];
    return value === undefined || value === '' ? [] : [`${name}=${shown(setting, value)}`];
  });
}

/** All settings for people: variable, value if given, default and meaning. */
export function settingsTable(env: Environment): string[] {
  const nameWidth = Math.max(...entries.map(([name]) => name.length));
  const defaultWidth = Math.max(...entries.map(([, setting]) => setting.shownDefault.length));
  const lines: string[] = [];
  let group = '';
  for (const [name, setting] of entries) {
    if (setting.group !== group) lines.push(...(group === '' ? [] : ['']), setting.group);
    group = setting.group;
    lines.push(
      `  ${name.padEnd(nameWidth)}  ${setting.shownDefault.padEnd(defaultWidth)}  ${setting.meaning}`.trimEnd(),
    );
    const value = env[name];
    if (value !== undefined && value !== '')
      lines.push(`  ${' '.repeat(nameWidth)}  is ${shown(setting, value)}`);
  }
  return lines;
}

/** The same as Markdown, one table per group, without values. */
export function settingsMarkdown(): string[] {
  const groups = [...new Set(entries.map(([, setting]) => setting.group))];
  return groups.flatMap((group) => [
    `## ${group}`,
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...entries
      .filter(([, setting]) => setting.group === group)
      .map(
        ([name, { shownDefault, meaning }]) =>
          `| \`${name}\` | ${shownDefault} | ${meaning.replaceAll('|', '\\|')} |`,
      ),
    '',
  ]);
}

function shown(setting: Setting, value: string): string {
  return setting.isSecret ? '(secret, not shown)' : redact(value);
}
