import type { builder } from '../../../graphql/builder.ts';

type Arg = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** The argument of all fields that read a feed. */
export const viewArg = (arg: Arg) =>
  arg.string({
    description:
      'The name of a view of the configuration: its items instead of the whole feed; a `filter` narrows them. BAD_USER_INPUT: there is no such view.',
  });
