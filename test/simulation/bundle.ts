import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { build, type Plugin } from 'vite';
import { Machine } from './machine.ts';
import type { UniqueIndex } from './memory-server.ts';
import type * as Entry from './process.ts';
import { Scheduler } from './scheduler.ts';
import { Surroundings } from './surroundings.ts';

/** What stands somewhere in the sources, once, and what takes its place. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The sources, ready to be run. */
export interface Bundle {
  /**
   * The modules of a process, with the machine's clock, timers and chance. Those of a machine that has died are taken again, since to run
   * code the first time is slow.
   */
  load(machine: Machine): typeof Entry;
  /** The unique indexes that the sources declare. */
  readonly unique: readonly UniqueIndex[];
}

interface Loaded {
  readonly entry: typeof Entry;
  readonly surroundings: Surroundings;
  readonly renewals: readonly (() => void)[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = fileURLToPath(new URL('process.ts', import.meta.url));
/** What the sources take from Node or from the language, and a machine gives. */
const GIVEN = [
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['Date', 'performance', 'Math', 'crypto', 'AbortSignal'],
];
const NOTHING = '\0nothing';
/** What a process has of its own in its modules, but for what is the same in all processes. */
const STATE: readonly { readonly file: string; readonly name: string; readonly made: string }[] = [
  { file: 'src/lib/clock.ts', name: 'clock', made: 'new Clock()' },
  { file: 'src/lib/turn.ts', name: 'turn', made: 'new Turn()' },
];

/** Compiles the sources once. @throws when a mutation does not match exactly once */
export async function bundle(mutation: Mutation | null = null): Promise<Bundle> {
  const changed = new Set<string>();
  const plugin: Plugin = {
    name: 'simulation',
    enforce: 'pre',
    // What is loaded when it is needed – the API, commands – is never needed here.
    resolveId: (id, _importer, { kind }) => (id === NOTHING || kind === 'dynamic-import' ? NOTHING : null),
    load: (id) => (id === NOTHING ? 'export {};' : null),
    transform(original, id) {
      let code = original;
      for (const { file, name, made } of STATE) {
        const declared = `export const ${name} = ${made};`;
        if (id !== ROOT + file || !code.includes(declared)) continue;
        changed.add(file);
        code = code.replace(
          declared,
          `export let ${name} = ${made}; renewals.push(() => { ${name} = ${made}; });`,
        );
      }
      if (mutation === null || id !== ROOT + mutation.file) return code;
      const parts = code.split(mutation.from);
      if (parts.length !== 2)
        throw new Error(`${mutation.file} has "${mutation.from}" ${String(parts.length - 1)} times`);
      changed.add(mutation.name);
      return parts.join(mutation.to);
    },
  };
  const built = await build({
    ...{ configFile: false, root: ROOT, logLevel: 'error', plugins: [plugin] },
    // These read the clock or ask for chance themselves.
    ssr: { noExternal: ['lru-cache', 'dataloader'] },
    build: {
      ...{ ssr: ENTRY, write: false, target: 'node20', minify: false },
      rolldownOptions: { output: { format: 'cjs', codeSplitting: false } },
    },
  });
  for (const { file, name } of STATE)
    if (!changed.has(file)) throw new Error(`${file} does not make its ${name} as it did`);
  if (mutation !== null && !changed.has(mutation.name))
    throw new Error(`${mutation.file} is not part of a simulated process`);
  const [first] = [built].flat();
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined;
  const code = chunk?.code;
  if (code === undefined) throw new Error('Nothing was built');
  const filename = `${ROOT}test/simulation/process.js`;
  const names = ['require', 'module', 'exports', '__filename', 'renewals', ...GIVEN];
  const script = new Script(`(function (${names.join(', ')}) {${code}\n})`, { filename });
  const run = script.runInThisContext() as (...given: unknown[]) => void;
  const require = createRequire(filename);
  const free: Loaded[] = [];
  const loaded = (machine: Machine): Loaded => {
    const surroundings = new Surroundings(machine);
    const { globals, modules } = surroundings;
    const [module, renewals]: [{ exports: unknown }, (() => void)[]] = [{ exports: {} }, []];
    const own = (id: string): unknown => modules[id.replace(/^node:/, '')] ?? require(id);
    run(own, module, module.exports, filename, renewals, ...GIVEN.map((name) => globals[name]));
    return { entry: module.exports as typeof Entry, surroundings, renewals };
  };
  const load = (machine: Machine): typeof Entry => {
    const one = free.pop() ?? loaded(machine);
    one.surroundings.moveTo(machine);
    for (const renew of one.renewals) renew();
    machine.onDeath(() => void free.push(one));
    return one.entry;
  };
  const { allIndexes } = load(new Machine(new Scheduler(0), 'declarations'));
  const unique = allIndexes().flatMap(
    ({ collection, name, key, unique: isUnique, partialFilterExpression }) =>
      isUnique === true ? [{ collection, name, paths: Object.keys(key), partialFilterExpression }] : [],
  );
  return { load, unique };
}
