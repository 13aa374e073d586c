/** Where a stream is: one of Redis, or a stream or a subject of JetStream. */
export interface StreamAddress {
  readonly kind: 'redis' | 'nats';
  /** URL of the server, with a user and a password if it has them. */
  readonly server: string;
  readonly stream: string;
  /** The whole address without user and password. */
  readonly shown: string;
}

/** As texts that say what is wrong show it. */
export const STREAM_FORM =
  'redis://user:password@host:6379/stream or nats://user:password@host:4222/stream' as const;

const ADDRESS = /^((rediss?|nats):\/\/[^/?#]+(?:\/\d+)?)\/([^/?#]+)(\?path=[^&#]+)?$/;
const CREDENTIALS = /(?<=^\w+:\/\/)[^/?#]*@/;

/** `null`: it is not the address of a stream. */
export function readStreamAddress(url: string): StreamAddress | null {
  const [, server, scheme, name, path = ''] = ADDRESS.exec(url) ?? [];
  if (server === undefined || name === undefined || !URL.canParse(server)) return null;
  const stream = decoded(name);
  if (stream === null) return null;
  return {
    kind: scheme === 'nats' ? 'nats' : 'redis',
    ...{ server: `${server}${path}`, stream, shown: url.replace(CREDENTIALS, '') },
  };
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
