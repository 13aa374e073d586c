const SOURCES = new URL('../../src/', import.meta.url).href;
const BUILD = new URL('../../dist/', import.meta.url).href;

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  if (!resolved.url.startsWith(SOURCES)) return resolved;
  const file = resolved.url.slice(SOURCES.length).replace(/\.ts(?:\?.*)?$/, '.js');
  return { url: BUILD + file, format: 'module', shortCircuit: true };
}
