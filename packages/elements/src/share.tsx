import { FanfareProvider } from '@fanfare/react';
import { Fragment } from 'react';
import { createPortal } from 'react-dom';
import { createRoot } from 'react-dom/client';
import type { GetToken } from './index.ts';
import { Around } from './parts.tsx';
import type { Shown } from './shown.ts';

/** All elements of a page with one server and one token: one client, one socket, one state of each action. */
export class Share {
  readonly #root = createRoot(document.createElement('div'));
  readonly #shown = new Set<Shown>();
  readonly #url: string;
  readonly #token: string | GetToken;
  readonly #onEmpty: () => void;
  #isDue = false;

  constructor(url: string, token: string | GetToken, onEmpty: () => void) {
    this.#url = url;
    this.#token = typeof token === 'string' ? token : kept(token);
    this.#onEmpty = onEmpty;
  }

  join(element: Shown): void {
    this.#shown.add(element);
    this.update();
  }

  leave(element: Shown): void {
    this.#shown.delete(element);
    if (this.#shown.size === 0) this.#onEmpty();
    this.update();
  }

  /** What changes of an element in one go is drawn once. */
  update(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#draw();
    });
  }

  #draw(): void {
    const shown = [...this.#shown];
    if (shown.length === 0) {
      // Others do not come: who is empty is forgotten.
      this.#root.unmount();
      return;
    }
    this.#root.render(
      <FanfareProvider
        url={this.#url}
        token={this.#token}
        onError={(error) => {
          for (const element of this.#shown) element.tell('fanfare-error', error);
        }}
      >
        {shown.map((element, index) => (
          <Fragment key={element.key}>
            {createPortal(<Around {...{ element, isFirst: index === 0 }} />, element.body)}
          </Fragment>
        ))}
      </FanfareProvider>,
    );
  }
}

/**
 * Asks the host for a token when there is none yet or the server has refused the last: one for all, however many ask, and so one
 * socket, even where each token that the host gives is another one.
 */
function kept(getToken: GetToken): GetToken {
  let last: { readonly given: Promise<string>; token?: string } | undefined;
  return (refused) => {
    if (last !== undefined && (refused === undefined || refused !== last.token)) return last.given;
    const now: NonNullable<typeof last> = { given: Promise.resolve(getToken(refused)) };
    last = now;
    now.given.then(
      (token) => {
        now.token = token;
      },
      () => {
        if (last === now) last = undefined;
      },
    );
    return now.given;
  };
}

const shares = new Map<string, Map<string | GetToken, Share>>();

/** Equal servers and tokens have one. */
export function shareOf(url: string, token: string | GetToken): Share {
  const ofServer = shares.get(url) ?? new Map<string | GetToken, Share>();
  shares.set(url, ofServer);
  const share =
    ofServer.get(token) ??
    new Share(url, token, () => {
      ofServer.delete(token);
      if (ofServer.size === 0) shares.delete(url);
    });
  ofServer.set(token, share);
  return share;
}
