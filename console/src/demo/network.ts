import { FeedClientError } from '@fanfare/client';

const CODE = 4900;

/**
 * The network of the two readers, which can be cut: open sockets are lost and no new one or request is let through. Who
 * publishes sits elsewhere.
 */
export class Network {
  readonly #sockets = new Set<WebSocket>();
  isCut = false;

  /** From now on the sockets of this page can be cut. */
  install(): void {
    const sockets = this.#sockets;
    globalThis.WebSocket = class extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        sockets.add(this);
        this.addEventListener('close', () => sockets.delete(this));
      }
    };
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.#sockets) socket.close(CODE);
  }

  mend(): void {
    this.isCut = false;
  }

  /** The token of a reader, as long as there is a network to send it by. */
  readonly tokenBy = (token: string) => (): string => {
    // Of the network and not of the page: nobody has to be told in the console.
    if (this.isCut) throw new FeedClientError('NETWORK', 'The network is cut');
    return token;
  };
}
