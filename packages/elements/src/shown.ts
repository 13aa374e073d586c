import type { ReactNode } from 'react';
import type { FanfareElement, FanfareEvents } from './index.ts';

/** What draws an element knows of it. */
export interface Shown extends Pick<FanfareElement, 'label' | 'words' | 'hrefOf' | 'lang'> {
  readonly key: number;
  /** Where it is drawn. */
  readonly body: HTMLElement;
  /** Whether something stands between its tags to be shown until there is data. */
  readonly hasPlaceholder: boolean;
  /** Whether something is put into a slot. */
  has(slot: string): boolean;
  /** The language that is said closest above it; empty: none. */
  readonly language: string;
  draw(): ReactNode;
  /** The first data is there, or why there is none. */
  ready(): void;
  tell<Name extends keyof FanfareEvents>(name: Name, detail: FanfareEvents[Name]['detail']): void;
}
