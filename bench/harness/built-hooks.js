const at = (path) => new URL(`../../${path}`, import.meta.url).href;

const FOLDERS = [
  ...['packages/local-engine/', 'packages/client/'].map((folder) => ({
    sources: at(`${folder}src/`),
    build: at(`${folder}dist/`),
  })),
  // What is part of the server is built with it.
  { sources: at('src/'), build: at('dist/src/') },
  { sources: at('parts/'), build: at('dist/parts/') },
];

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  const folder = FOLDERS.find(({ sources }) => resolved.url.startsWith(sources));
  if (folder === undefined || !resolved.url.includes('/src/')) return resolved;
  const file = resolved.url.slice(folder.sources.length).replace(/\.ts(?:\?.*)?$/, '.js');
  return { url: folder.build + file, format: 'module', shortCircuit: true };
}
