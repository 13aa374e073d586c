import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { build, type Plugin } from 'vite';
import { Machine } from './machine.ts';
import type { UniqueIndex } from './memory-server.ts';
import type * as Entry from './process.ts';
import { Scheduler } from './scheduler.ts';

/** What stands somewhere in the sources, once, and what takes its place. */
export interface Mutation {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The sources, ready to be run. */
export interface Bundle {
  /** The modules of a process, loaded once more: with a clock, timers and chance of its own, and with module state of its own. */
  load(machine: Machine): typeof Entry;
  /** The unique indexes that the sources declare. */
  readonly unique: readonly UniqueIndex[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = fileURLToPath(new URL('process.ts', import.meta.url));
/** What the sources take from Node or from the language, and a machine gives. */
const GIVEN = [
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'],
  ...['Date', 'performance', 'Math', 'crypto', 'AbortSignal'],
];
const NOTHING = '\0nothing';

/** Compiles the sources once. @throws when a mutation does not match exactly once */
export async function bundle(mutation: Mutation | null = null): Promise<Bundle> {
  let isMutated = mutation === null;
  const plugin: Plugin = {
    name: 'simulation',
    enforce: 'pre',
    // What is loaded when it is needed – the API, commands – is never needed here.
    resolveId: (id, _importer, { kind }) => (id === NOTHING || kind === 'dynamic-import' ? NOTHING : null),
    load: (id) => (id === NOTHING ? 'export {};' : null),
    transform(code, id) {
      if (mutation === null || id !== ROOT + mutation.file) return null;
      const parts = code.split(mutation.from);
      if (parts.length !== 2)
        throw new Error(`${mutation.file} has "${mutation.from}" ${String(parts.length - 1)} times`);
      isMutated = true;
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
  if (!isMutated) throw new Error(`${String(mutation?.file)} is not part of a simulated process`);
  const [first] = [built].flat();
  const chunk = first !== undefined && 'output' in first ? first.output[0] : undefined;
  const code = chunk?.code;
  if (code === undefined) throw new Error('Nothing was built');
  const filename = `${ROOT}test/simulation/process.js`;
  const names = ['require', 'module', 'exports', '__filename', ...GIVEN];
  const script = new Script(`(function (${names.join(', ')}) {${code}\n})`, { filename });
  const run = script.runInThisContext() as (...given: unknown[]) => void;
  const require = createRequire(filename);
  const load = (machine: Machine): typeof Entry => {
    const given: Record<string, unknown> = machine.globals;
    const module = { exports: {} };
    const own = (id: string): unknown => machine.modules[id.replace(/^node:/, '')] ?? require(id);
    run(own, module, module.exports, filename, ...GIVEN.map((name) => given[name]));
    return module.exports as typeof Entry;
  };
  const { allIndexes } = load(new Machine(new Scheduler(0), 'declarations'));
  const unique = allIndexes().flatMap(
    ({ collection, name, key, unique: isUnique, partialFilterExpression }) =>
      isUnique === true ? [{ collection, name, paths: Object.keys(key), partialFilterExpression }] : [],
  );
  return { load, unique };
}
