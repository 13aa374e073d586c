import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OnEmbeddedEvent } from '../events.ts';
import { needExecutable } from '../process/executables.ts';
import { diesWithParent } from '../process/guarded-command.ts';
import { runCommand } from '../process/run-command.ts';
import type { AptSource } from './apt-sources.ts';
import type { TreeRecipe } from './recipe.ts';

export interface AptJob {
  readonly recipe: TreeRecipe;
  readonly source: AptSource;
  readonly architecture: string;
  /** A folder for apt's own use. */
  readonly folder: string;
  readonly path: string;
  readonly onEvent: OnEmbeddedEvent;
}

/** apt with a current list of a mirror's packages. */
export interface Apt {
  /**
   * Fetches the recipe's packages and what they need, and gives back the paths of the archives.
   * @param isSlim whether the recipe's assumed packages count as installed.
   */
  download(isSlim: boolean): Promise<readonly string[]>;
}

/** Fetches the list of packages. apt has folders of its own here: the host's lists, packages and caches stay. */
export async function openApt(job: AptJob): Promise<Apt> {
  const { recipe, folder, onEvent } = job;
  for (const needed of ['state/lists/partial', 'cache']) mkdirSync(join(folder, needed), { recursive: true });
  const list = join(folder, `mirror.${job.source.format}`);
  writeFileSync(list, job.source.text(recipe.suite));
  const status = join(folder, 'status');
  writeFileSync(status, '');
  const config = join(folder, 'apt.conf');
  writeFileSync(config, configuration(folder, list, status, job.architecture));
  const command = needExecutable('apt-get', job.path);
  const apt = (...args: string[]) =>
    diesWithParent({ command, args: ['-c', config, '-q', '-y', ...args] }, 'KILL', job.path);
  await runCommand(apt('update'));
  return {
    async download(isSlim) {
      const archives = join(folder, 'cache', 'archives');
      rmSync(archives, { recursive: true, force: true });
      mkdirSync(join(archives, 'partial'), { recursive: true });
      const assumed = isSlim ? recipe.assumed : [];
      writeFileSync(status, assumed.map((name) => statusEntry(name, job.architecture)).join(''));
      await runCommand(apt('-o', 'APT::Status-Fd=3', '--download-only', 'install', ...recipe.packages), {
        onStatus: percentages((fraction) => {
          onEvent({ step: 'download', message: 'Fetching the local database engine', fraction });
        }),
      });
      const names = readdirSync(archives).filter((name) => name.endsWith('.deb'));
      return names.sort().map((name) => join(archives, name));
    },
  };
}

/** Reads apt's status lines and calls back once for each percent. */
function percentages(onFraction: (fraction: number) => void): (line: string) => void {
  let last = 0;
  return (line) => {
    const percent = Math.floor(Number(/^dlstatus:\d+:([\d.]+):/.exec(line)?.[1] ?? 0));
    if (percent <= last) return;
    last = percent;
    onFraction(percent / 100);
  };
}

/**
 * What the host says about proxies, keys and methods still counts, but not what it says about hooks, pins and
 * architectures. A mirror may lag behind the validity of its release file; signatures are checked all the same.
 */
function configuration(folder: string, list: string, status: string, architecture: string): string {
  const cleared = [
    ...['APT::Update::Pre-Invoke', 'APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success'],
    ...['DPkg::Pre-Invoke', 'DPkg::Post-Invoke', 'DPkg::Pre-Install-Pkgs'],
    ...['APT::Default-Release', 'APT::Architectures'],
  ];
  const settings: readonly (readonly [string, string])[] = [
    ['Dir::State', join(folder, 'state')],
    ['Dir::State::status', status],
    ['Dir::Cache', join(folder, 'cache')],
    ['Dir::Etc::sourcelist', list],
    ['Dir::Etc::sourceparts', '/dev/null'],
    ['Dir::Etc::preferences', '/dev/null'],
    ['Dir::Etc::preferencesparts', '/dev/null'],
    ['APT::Architecture', architecture],
    ['APT::Install-Recommends', 'false'],
    ['APT::Install-Suggests', 'false'],
    ['APT::Sandbox::User', 'root'],
    ['APT::Keep-Downloaded-Packages', 'true'],
    ['Acquire::Languages', 'none'],
    ['Acquire::Check-Valid-Until', 'false'],
    ['Acquire::Retries', '1'],
    ['Acquire::http::Timeout', '10'],
    ['Acquire::https::Timeout', '10'],
  ];
  const lines = [
    ...cleared.map((name) => `#clear ${name};`),
    ...settings.map(([name, value]) => `${name} "${value}";`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The entry of an installed package, newer than any real one. */
function statusEntry(name: string, architecture: string): string {
  const fields = [
    `Package: ${name}`,
    'Status: install ok installed',
    'Maintainer: none',
    `Architecture: ${architecture}`,
    'Multi-Arch: foreign',
    'Version: 99:9999',
    'Description: assumed',
  ];
  return `${fields.join('\n')}\n\n`;
}
