import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from 'lightningcss';
import { buildTarget, styleFor } from '../../scripts/oldest-browsers.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const MAIN = fileURLToPath(import.meta.resolve('preact/compat'));

/** The parts of @fanfare/react with Preact in place of React, which alone would be as large as all that a page may load. */
const PREACT = [
  { find: /^react$/, replacement: MAIN },
  { find: /^react-dom$/, replacement: MAIN },
  { find: 'react-dom/client', replacement: fileURLToPath(import.meta.resolve('preact/compat/client')) },
  { find: 'react/jsx-runtime', replacement: fileURLToPath(import.meta.resolve('preact/jsx-runtime')) },
];

const LOOK = /^@fanfare\/react\/\w+\.css$/;

/** Stylesheets of @fanfare/react as texts. */
const looks = {
  name: 'looks',
  enforce: 'pre',
  // Not as stylesheets, which Vite would build.
  resolveId: (id) => (LOOK.test(id) ? `\0${id.replace('.css', '')}` : null),
  async load(id) {
    const [, name] = /^\0@fanfare\/react\/(\w+)$/.exec(id) ?? [];
    if (name === undefined) return null;
    const code = Buffer.from(await styleFor(at(`../react/${name}.css`)));
    const small = transform({ filename: id, code, minify: true }).code.toString();
    return `export default ${JSON.stringify(small)};`;
  },
};

/** Of `dist/elements.js`. */
export async function elements() {
  const { version } = JSON.parse(await readFile(at('package.json'), 'utf8'));
  return {
    root: at('.'),
    configFile: false,
    logLevel: 'error',
    oxc: { jsx: { runtime: 'automatic', importSource: 'react', development: false } },
    plugins: [looks],
    resolve: {
      // Their sources: no other part need be built before.
      alias: [
        { find: /^@fanfare\/react\/more$/, replacement: at('../react/src/more.ts') },
        { find: /^@fanfare\/react$/, replacement: at('../react/src/index.ts') },
        { find: '@fanfare/client', replacement: at('../client/src/index.ts') },
        ...PREACT,
      ],
    },
    build: {
      outDir: at('dist'),
      emptyOutDir: false,
      target: buildTarget(),
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // Not as a library, of which bundlers keep the spaces.
      rolldownOptions: {
        input: at('src/define.tsx'),
        output: {
          entryFileNames: 'elements.js',
          codeSplitting: false,
          postBanner: `/*! @fanfare/elements ${version}, with Preact: MIT */`,
        },
      },
    },
  };
}
