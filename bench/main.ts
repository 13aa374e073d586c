import { join } from 'node:path';
import { openEnvironment, type Environment } from './harness/environment.ts';
import { loadBefore, provenance } from './harness/machine.ts';
import { readOptions, USAGE, type Options } from './harness/options.ts';
import { ensurePackages } from './harness/packages.ts';
import type { Part } from './harness/part.ts';
import { showReport, writeReport, writeResultsPage } from './harness/report.ts';

/** The part that needs a commit to run beside this checkout. */
const AGAINST = 'against';

process.exit(await main());

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    console.log(USAGE);
    return 0;
  }
  const say = (line: string): void => {
    console.error(`  ${line}`);
  };
  ensurePackages(say);
  // Only now is everything there that the parts import.
  const { PARTS } = await import('./parts.ts');
  if (options === 'list') {
    for (const { name } of PARTS) console.log(name);
    return 0;
  }
  return runAll(options, choose(PARTS, options), say);
}

/** The parts that are named. Without names: that of `--against` where it is given, else all others. */
function choose(
  parts: readonly Part[],
  { parts: named, against }: Pick<Options, 'parts' | 'against'>,
): readonly Part[] {
  const names = against === null || named.includes(AGAINST) ? named : [...named, AGAINST];
  const unknown = names.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined)
    throw new Error(`There is no part "${unknown}"; there are ${parts.map(({ name }) => name).join(', ')}`);
  return names.length === 0
    ? parts.filter(({ name }) => name !== AGAINST)
    : parts.filter(({ name }) => names.includes(name));
}

async function runAll(
  options: Options,
  parts: readonly Part[],
  say: (line: string) => void,
): Promise<number> {
  await using environment = await openEnvironment(
    options.profile ? join(options.out, 'profiles') : null,
    say,
  );
  const stopping = stopOnSignals(environment);
  const failures: string[] = [];
  for (const { name, run } of parts) {
    console.error(name);
    try {
      const of = await provenance(environment, await loadBefore());
      const startedAt = performance.now();
      const report = await run({ environment, options, say });
      const seconds = (performance.now() - startedAt) / 1_000;
      const against = name === AGAINST ? ` --against ${options.against ?? ''}` : '';
      const command = `npm run bench -- ${name}${against}${options.size === 'full' ? '' : ` --${options.size}`}`;
      writeReport(options.out, name, { ...report, command, seconds, size: options.size, provenance: of });
      showReport(report, seconds);
    } catch (error) {
      // What fails because everything is being stopped is no news; the handler of the signal ends the process.
      if (stopping.aborted) await new Promise<never>(() => undefined);
      // The others are measured all the same; the command fails in the end.
      failures.push(name);
      console.error(error);
    }
  }
  if (options.size !== 'smoke') writeResultsPage(options.out);
  if (failures.length > 0) console.error(`Failed: ${failures.join(', ')}`);
  return failures.length > 0 ? 1 : 0;
}

/** Ctrl-C leaves nothing behind: children die with this process, the databases are stopped first. */
function stopOnSignals(environment: Environment): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.error('Stopping');
      stopping.abort();
      environment[Symbol.asyncDispose]().then(
        () => process.exit(130),
        (error: unknown) => {
          console.error(error);
          process.exit(130);
        },
      );
    });
  }
  return stopping.signal;
}
