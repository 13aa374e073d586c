/**
 * Makes elements as React does, with the texts of the console in the language of the reader: what is written in a component
 * is its English. Names, ids and what people wrote are data: they stand in elements that say so.
 */
import type { ReactElement, ReactNode } from 'react';
import { Fragment, jsx as make, jsxs as makeAll } from 'react/jsx-runtime';
import { isEnglish, t } from './language.ts';

export { Fragment };

type Type = Parameters<typeof make>[0];
type Props = Readonly<Record<string, unknown>>;
type Key = Parameters<typeof make>[2];

const ATTRIBUTES = ['title', 'aria-label', 'placeholder'];
const DATA: ReadonlySet<Type> = new Set(['bdi', 'code', 'pre', 'q', 'text', 'time', 'textarea']);

export function jsx(type: Type, props: Props, key: Key): ReactElement {
  return make(type, said(type, props), key);
}

export function jsxs(type: Type, props: Props, key: Key): ReactElement {
  return makeAll(type, said(type, props), key);
}

function said(type: Type, props: Props): Props {
  if (isEnglish()) return props;
  const all: Record<string, unknown> = { ...props };
  for (const name of ATTRIBUTES) if (typeof all[name] === 'string') all[name] = t(all[name]);
  const isData = DATA.has(type) || props['dir'] === 'auto' || props['translate'] === 'no';
  if (!isData && 'children' in all) all['children'] = ofChildren(all['children'] as ReactNode);
  return all;
}

function ofChildren(children: ReactNode): ReactNode {
  if (typeof children === 'string') return t(children);
  return Array.isArray(children)
    ? children.map((child: ReactNode) => (typeof child === 'string' ? t(child) : child))
    : children;
}
