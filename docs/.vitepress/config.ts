// The site of the documentation: npm run docs:build. Its pages are the files that one reads in the repository, so a link may lead to
// any file of it. A link that leads nowhere ends the build with an error.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { KINDS } from '../api/schema-pages.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Files of the repository that pages link to and that are no pages: they are on the site as they are. */
const sources = new Set<string>();

const titleOf = (path: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(PROJECT, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path;
const pages = (...names: readonly string[]) =>
  names.map((name) => ({ text: titleOf(`docs/${name}.md`), link: `/${name}` }));

/** The page of the site that a file becomes. */
const placeOf = (path: string): string => {
  if (path === 'docs/home.md') return 'index.md';
  if (path === 'README.md') return 'overview.md';
  return path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
};

/** The names of headings as the repository's own pages have them. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Where a link of a page leads, seen from the top of the repository; null for another site, or a part of the same page. */
function targetOf(href: string, page: string): string | null {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return null;
  return normalize(join(dirname(page), decodeURI(href.replace(/[?#].*$/, ''))));
}

/** Schemas lead to the reference that is made of them, other files to their texts. A folder has no page. */
function linkFiles(md: MarkdownRenderer): void {
  md.core.ruler.push('files', ({ tokens, env }) => {
    const { path, realPath = path } = env as { readonly path?: string; readonly realPath?: string };
    // The title alone.
    if (realPath === undefined) return;
    const page = relative(PROJECT, realPath);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type !== 'link_open') continue;
      const target = targetOf(token.attrGet('href') ?? '', page);
      if (target === null) continue;
      if (!existsSync(join(PROJECT, target)))
        throw new Error(`${page} links to ${target}, which does not exist`);
      if (target.endsWith('.md') && !target.startsWith('.'))
        token.attrSet('href', `/${placeOf(target)}${/#.*$/.exec(token.attrGet('href') ?? '')?.[0] ?? ''}`);
      else if (target === 'schema/schema.graphql') token.attrSet('href', '/api/queries');
      else if (statSync(join(PROJECT, target)).isDirectory()) token.attrSet('href', '#');
      else {
        sources.add(target);
        token.attrSet('href', `/sources/${target}.txt`);
        token.attrSet('target', '_blank');
      }
    }
  });
}

/** VitePress looks for the pages of links, and not for what is named after a #. */
function expectAnchors(outDir: string): void {
  const files = readdirSync(outDir, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  );
  const texts = new Map(files.map((file) => [file, readFileSync(join(outDir, file), 'utf8')]));
  const dead = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/href="(\/[^"#]*)?#([^"]+)"/g)].flatMap(([, path = '', id = '']) => {
      const page = path === '' ? file : path.slice(1).replace(/(^|\/)$/, '$1index.html');
      const isThere = texts.get(page)?.includes(` id="${decodeURIComponent(id)}"`) === true;
      return isThere ? [] : [`${file}: ${path}#${id}`];
    }),
  );
  if (dead.length > 0) throw new Error(`Links lead to headings that do not exist:\n${dead.join('\n')}`);
}

interface Linked {
  readonly text: string;
  readonly link: string;
}
interface Section {
  readonly text: string;
  readonly items: readonly Linked[];
}

const SIDEBAR: readonly Section[] = [
  {
    text: 'Start',
    items: [
      ...pages('getting-started'),
      { text: 'React in five minutes', link: '/react' },
      ...pages('descriptors', 'backend', 'notifications', 'deploy', 'cookbook', 'from-other-products'),
      { text: 'Overview', link: '/overview' },
      ...pages('console', 'glossary'),
    ],
  },
  {
    text: 'Concepts',
    items: pages('feeds', 'access', 'safety', 'privacy', 'limits', 'tenants'),
  },
  {
    text: 'React',
    items: pages('react', 'react-provider', 'react-parts', 'react-hooks', 'react-more', 'react-native'),
  },
  { text: 'Frontends', items: pages('client', 'elements', 'frontends') },
  { text: 'API', items: KINDS.map(({ name, title }) => ({ text: title, link: `/api/${name}` })) },
  {
    text: 'Operation',
    items: pages(
      ...[
        'operations',
        'configuration',
        'events',
        'ingest',
        'consume',
        'mail',
        'mcp',
        'federation',
        'late-feeds',
        'sharding',
        'scale',
        'costs',
        'benchmarks',
      ],
    ),
  },
  {
    text: 'Development',
    items: [
      { text: 'Contributing', link: '/CONTRIBUTING' },
      ...pages('architecture', 'where-to-change', 'collections', 'feed-models', 'console-design', 'names'),
      { text: 'Decisions', link: '/decisions/' },
      ...['client', 'elements', 'local-engine', 'react'].map((name) => ({
        text: titleOf(`packages/${name}/README.md`),
        link: `/packages/${name}/`,
      })),
      { text: 'Security', link: '/SECURITY' },
    ],
  },
];

/** The pages in the order of the sidebar, as https://llmstxt.org has them: each with its first sentence. */
function forMachines(): string {
  const lines = SIDEBAR.flatMap(({ text, items }) => [
    `\n## ${text}\n`,
    ...items.map(({ text: title, link }) => `- [${title}](${link})${about(link)}`),
  ]);
  return `# Fanfare\n\n> An activity-feed server: record actions, give every reader a personal feed, push it live.\n${lines.join('\n')}\n`;
}

function about(link: string): string {
  const path = join(PROJECT, `docs${link.replace(/#.*$/, '')}.md`);
  if (!existsSync(path)) return '';
  const [, text = ''] = /^# .+\n\n([^#|<`\n-][^]*?)\n\n/m.exec(readFileSync(path, 'utf8')) ?? [];
  const [sentence = ''] = /^[^]*?[.:](?=\s|$)/.exec(text.replaceAll('\n', ' ')) ?? [];
  return sentence === '' ? '' : `: ${sentence.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')}`;
}

export default defineConfig({
  title: 'Fanfare',
  description: 'An activity-feed server',
  srcDir: '..',
  srcExclude: ['.changeset/**', 'templates/**', '**/dist/**', 'bench/peer/**', 'bench/usual/**'],
  rewrites: placeOf,
  cacheDir: 'docs/.vitepress/cache',
  lastUpdated: false,
  markdown: {
    ...{ config: linkFiles, anchor: { slugify } },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  buildEnd({ outDir }) {
    expectAnchors(outDir);
    writeFileSync(join(outDir, 'llms.txt'), forMachines());
    for (const source of sources) {
      const copy = join(outDir, 'sources', `${source}.txt`);
      mkdirSync(dirname(copy), { recursive: true });
      writeFileSync(copy, readFileSync(join(PROJECT, source)));
    }
  },
  themeConfig: {
    // Without a label of its own the button is called what it shows.
    search: {
      provider: 'local',
      options: { translations: { button: { buttonText: 'Search', buttonAriaLabel: '' } } },
    },
    outline: [2, 3],
    nav: [
      { text: 'First feed', link: '/getting-started' },
      { text: 'API', link: '/api/queries' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    sidebar: SIDEBAR,
  },
});
