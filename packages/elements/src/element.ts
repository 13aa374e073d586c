import type { ReactNode } from 'react';
import type { FanfareElement, FanfareEvents, GetToken } from './index.ts';
import { wear } from './look.ts';
import { shareOf, type Share } from './share.tsx';
import type { Shown } from './shown.ts';

/** On a server there is none, and nothing to define. */
const Base =
  (globalThis as { readonly HTMLElement?: typeof HTMLElement }).HTMLElement ??
  (Object as unknown as typeof HTMLElement);

let count = 0;

export abstract class OwnElement extends Base implements Shown {
  /** With dashes. The texts among the properties. */
  static readonly observedAttributes: readonly string[] = ['server', 'token', 'label', 'theme', 'lang'];

  readonly key = (count += 1);
  readonly body: HTMLElement;
  readonly #placeholder: HTMLSlotElement;
  readonly #given = new Map<string, unknown>();
  #share: Share | null = null;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    wear(root);
    this.#placeholder = document.createElement('slot');
    this.body = document.createElement('div');
    this.body.setAttribute('part', 'body');
    root.append(this.#placeholder, this.body);
  }

  declare server: string;
  declare label: string;
  declare theme: string;
  declare token: string;
  declare getToken: FanfareElement['getToken'];
  declare words: FanfareElement['words'];
  declare hrefOf: FanfareElement['hrefOf'];

  abstract draw(): ReactNode;

  get hasPlaceholder(): boolean {
    return this.#placeholder
      .assignedNodes()
      .some(({ textContent, nodeType }) => nodeType === 1 || textContent?.trim() !== '');
  }

  has(slot: string): boolean {
    return this.querySelector(`:scope > [slot="${slot}"]`) !== null;
  }

  get language(): string {
    return this.closest('[lang]')?.getAttribute('lang') ?? '';
  }

  connectedCallback(): void {
    // What was set before the tag had a class would hide the accessors.
    for (const name of propertiesOf(this))
      if (Object.hasOwn(this, name)) {
        const value = Reflect.get(this, name) as unknown;
        Reflect.deleteProperty(this, name);
        Reflect.set(this, name, value);
      }
    this.#join();
  }

  disconnectedCallback(): void {
    // One that is moved is back at once, and keeps all that it shows.
    queueMicrotask(() => {
      if (!this.isConnected) this.#leave();
    });
  }

  /** Where browsers can move an element without taking it out, there is nothing to do. */
  connectedMoveCallback(): void {
    this.#share?.update();
  }

  attributeChangedCallback(): void {
    this.changed();
  }

  /** A property or an attribute. */
  changed(): void {
    if (this.isConnected) this.#join();
  }

  given(name: string): unknown {
    return this.#given.get(name);
  }

  give(name: string, value: unknown): void {
    if (this.#given.get(name) === value) return;
    this.#given.set(name, value);
    this.changed();
  }

  ready(): void {
    if (!this.#placeholder.isConnected) return;
    this.#placeholder.remove();
    this.tell('fanfare-ready', null);
  }

  tell<Name extends keyof FanfareEvents>(name: Name, detail: FanfareEvents[Name]['detail']): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #join(): void {
    const token: string | GetToken = this.getToken ?? this.token;
    const share =
      token === '' ? null : shareOf(new URL(this.server || ownServer(), location.href).href, token);
    if (share !== this.#share) {
      this.#leave();
      this.#share = share;
      share?.join(this);
    } else share?.update();
  }

  #leave(): void {
    this.#share?.leave(this);
    this.#share = null;
  }
}

/** The server that has served this script, or `/graphql` of the page if it came in a bundle of the host. */
function ownServer(): string {
  const { url } = import.meta;
  const isServed =
    new URL(url).pathname.endsWith('/elements.js') && [...document.scripts].some(({ src }) => src === url);
  return isServed ? new URL('graphql', url).href : '/graphql';
}

const properties = new WeakMap<object, readonly string[]>();

function propertiesOf(element: OwnElement): readonly string[] {
  return properties.get(element.constructor) ?? [];
}

interface Declared {
  /** Attributes too. */
  readonly texts: readonly string[];
  readonly numbers?: readonly string[];
  readonly values?: readonly string[];
}

const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Gives a class its properties, and the browser its tag. */
export function define(
  tag: string,
  element: CustomElementConstructor & typeof OwnElement,
  { texts, numbers = [], values = [] }: Declared,
): void {
  const registry = (globalThis as { readonly customElements?: CustomElementRegistry }).customElements;
  if (registry === undefined || registry.get(tag) !== undefined) return;
  const named = [...OF_ALL.texts, ...texts];
  for (const name of [...named, ...numbers]) {
    const attribute = dashed(name);
    const isNumber = numbers.includes(name);
    Object.defineProperty(element.prototype, name, {
      get(this: OwnElement) {
        const text = this.getAttribute(attribute) ?? '';
        return isNumber ? Number(text) : text;
      },
      set(this: OwnElement, value: string | number | null | undefined) {
        if (value == null) this.removeAttribute(attribute);
        else this.setAttribute(attribute, value.toString());
      },
    });
  }
  for (const name of [...OF_ALL.values, ...values])
    Object.defineProperty(element.prototype, name, {
      get(this: OwnElement) {
        return this.given(name) ?? (name === 'token' ? (this.getAttribute(name) ?? '') : undefined);
      },
      set(this: OwnElement, value: unknown) {
        this.give(name, value ?? undefined);
      },
    });
  Object.defineProperty(element, 'observedAttributes', {
    value: [...OwnElement.observedAttributes, ...[...texts, ...numbers].map(dashed)],
  });
  properties.set(element, [...named, ...numbers, ...OF_ALL.values, ...values]);
  registry.define(tag, element);
}

const OF_ALL = { texts: ['server', 'label', 'theme'], values: ['token', 'getToken', 'words', 'hrefOf'] };
