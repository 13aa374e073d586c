import { KINDS, pageOf } from './schema-pages.ts';

export default {
  paths: () => KINDS.map((kind) => ({ params: { kind: kind.name }, content: pageOf(kind) })),
};
