import { Feed, type Item } from 'feed';
import { type Entries, type Entry, textsOf } from './entries.ts';

export const FORMATS = {
  json: 'application/feed+json; charset=utf-8',
  rss: 'application/rss+xml; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
} as const;

export type Format = keyof typeof FORMATS;

export interface Place {
  /** Address of the server. */
  readonly url: string;
  /** Address of the feed; `null`: it contains a key, which the feed does not. */
  readonly self: string | null;
  readonly locale: string;
}

/** The feed as text, equal for equal entries. */
export function written({ title, url, entries }: Entries, format: Format, place: Place): string {
  const link = url ?? place.url;
  const [newest = new Date(0)] = entries.map(changedAt).toSorted((a, b) => b.getTime() - a.getTime());
  const feed = new Feed({
    title: visible(title),
    // RSS wants one.
    ...(format === 'rss' ? { description: visible(title) } : {}),
    id: place.self ?? place.url,
    link,
    updated: newest,
    generator: 'Fanfare',
    language: place.locale,
    ...(place.self === null ? {} : { feedLinks: { [format]: place.self } }),
  });
  for (const entry of entries) feed.addItem(itemOf(entry, format, { ...place, link }));
  switch (format) {
    case 'json':
      return feed.json1();
    case 'rss':
      return feed.rss2();
    case 'atom':
      return feed.atom1();
  }
}

function itemOf(entry: Entry, format: Format, { url, link }: Place & { readonly link: string }): Item {
  const { id, actor, refs, descriptor } = entry;
  const sentence = visible(descriptor.summaryParts.map(({ text }) => text).join(''));
  const author = { name: visible(actor.name), ...(actor.url === null ? {} : { link: actor.url }) };
  return {
    id: `${url}/actions/${encodeURIComponent(id)}`,
    // Titles are HTML in the one and plain text in the other.
    title: format === 'json' ? sentence : escaped(sentence),
    link: refs.find((ref) => ref.url !== null)?.url ?? actor.url ?? link,
    date: changedAt(entry),
    published: new Date(entry.conducted),
    content: contentOf(entry),
    // An author of RSS is an address of mail, so that the name has to be said otherwise.
    ...(format === 'rss'
      ? { extensions: [{ name: 'dc:creator', objects: { _text: author.name } }] }
      : { author: [author] }),
    category: descriptor.tags.map((tag) => categoryOf(visible(tag), format)),
  };
}

/** Attributes are written with `&` escaped and nothing else. */
function categoryOf(tag: string, format: Format): { readonly name: string; readonly term?: string } {
  if (format !== 'atom') return { name: tag };
  const term = tag.replaceAll('<', '‹').replaceAll('"', '”');
  return { name: term, term };
}

function changedAt({ conducted, editedAt }: Entry): Date {
  return new Date(editedAt ?? conducted);
}

function contentOf(entry: Entry): string {
  return `<p>${sentenceOf(entry)}</p>${paragraphsOf(entry)}`;
}

/** The sentence with links, as HTML. */
export function sentenceOf({ descriptor }: Entry): string {
  const parts = descriptor.summaryParts.map(({ text, member, ref }) => {
    const shown = escaped(visible(text));
    const page = member?.url ?? ref?.url ?? null;
    return page === null ? shown : `<a href="${escaped(page)}">${shown}</a>`;
  });
  return parts.join('');
}

/** A paragraph for the rating, each text that is not in the sentence, each picture and file, as HTML. */
export function paragraphsOf(entry: Entry): string {
  const said = entry.descriptor.summaryParts.map(({ text }) => text).join('');
  const texts = textsOf(entry)
    .filter((text) => !said.includes(text))
    .map((text) => escaped(visible(text)).replaceAll('\n', '<br />'));
  const { rating, media } = entry.content;
  const rated = rating === null ? [] : [`${String(rating.value)}/${String(rating.max)}`];
  return [...rated, ...texts, ...media.map(mediumOf)].map((paragraph) => `<p>${paragraph}</p>`).join('');
}

function mediumOf({ url, alt, kind, width, height }: Entry['content']['media'][number]): string {
  const [address, name] = [escaped(url), escaped(visible(alt))];
  if (kind !== 'PICTURE') return `<a href="${address}">${name === '' ? address : name}</a>`;
  const size =
    width === null || height === null ? '' : ` width="${String(width)}" height="${String(height)}"`;
  return `<img src="${address}" alt="${name}"${size} />`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For HTML. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Characters that XML 1.0 has no way to say. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

function visible(text: string): string {
  return text.replace(FORBIDDEN, '\u{FFFD}');
}
