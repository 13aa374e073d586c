/** Somebody as whom one can look at the feed. */
export interface Person {
  readonly memberId: string;
  readonly name: string;
  readonly token: string;
}

function contentOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="fanfare-${name}"]`)?.content ?? '';
}

/** What the server has filled in for who started it; empty for everybody else. */
export function offeredPeople(): readonly Person[] {
  const content = contentOf('demo');
  if (content === '') return [];
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Person[];
}

/** Of who started the server: it may name the people. Empty where there is none. */
export const ownToken = contentOf('token');
