import {
  argumentBounds,
  collectionArguments,
  idsArgument,
  membersIn,
  momentArgument,
  orderArgument,
  readOnlyIn,
} from '#plugin-api';
import type { JsonSchema, RouteArgument } from '#plugin-api';
import { passwordArgument } from './context.ts';
import { htmlSchema } from './post-schema.ts';

const dateTime = { type: 'string', format: 'date-time' } as const;

/** The REST schema of a comment. `context` lists where each member appears. */
export const commentSchema: JsonSchema = {
  title: 'comment',
  type: 'object',
  properties: {
    ...readOnlyIn('everywhere', {
      id: { type: 'integer', description: 'Unique identifier for the comment.' },
      link: { type: 'string', format: 'uri', description: 'URL to the comment.' },
      type: { type: 'string', description: 'Type of the comment.' },
      author_avatar_urls: { type: 'object', description: 'Avatar URLs for the comment author.' },
    }),
    ...membersIn('everywhere', {
      author: { type: 'integer', description: 'The ID of the user, if the author was a user.' },
      author_name: { type: 'string', description: 'Display name for the comment author.' },
      author_url: { type: 'string', description: 'URL for the comment author.' },
      content: htmlSchema('The content for the comment.', 'everywhere'),
      date: { ...dateTime, description: "The date the comment was published, in the site's timezone." },
      parent: { type: 'integer', description: 'The ID for the parent of the comment.' },
    }),
    ...membersIn('shown', {
      date_gmt: { ...dateTime, description: 'The date the comment was published, as GMT.' },
      post: { type: 'integer', description: 'The ID of the associated post object.' },
      status: { type: 'string', description: 'State of the comment.' },
      meta: { type: 'object', description: 'Meta fields.' },
    }),
    ...membersIn('edit', {
      author_email: { type: 'string', description: 'Email address for the comment author.' },
      author_ip: { type: 'string', description: 'IP address for the comment author.' },
      author_user_agent: { type: 'string', description: 'User agent for the comment author.' },
    }),
  },
};

export const commentIdArgument: RouteArgument = {
  description: 'Unique identifier for the comment.',
  type: 'integer',
  ...argumentBounds.id,
};

/** Arguments to create or update a comment. Lengths are those of the columns. */
export const commentWriteArguments: Readonly<Record<string, RouteArgument>> = {
  author: { type: 'integer', ...argumentBounds.id, description: 'The ID of the user, if the author was a user.' },
  author_email: { type: 'string', maxLength: 100, description: 'Email address for the comment author.' },
  author_ip: { type: 'string', format: 'ip', maxLength: 64, description: 'IP address for the comment author.' },
  author_name: { type: 'string', maxLength: 245, description: 'Display name for the comment author.' },
  author_url: { type: 'string', maxLength: 200, description: 'URL for the comment author: http or https, or empty.' },
  author_user_agent: { type: 'string', maxLength: 254, description: 'User agent for the comment author.' },
  content: {
    type: ['string', 'object'],
    ...argumentBounds.paragraph,
    properties: { raw: { type: 'string', ...argumentBounds.paragraph } },
    description: 'The content for the comment.',
  },
  date: { ...momentArgument, description: "The date the comment was published, in the site's timezone." },
  date_gmt: { ...momentArgument, description: 'The date the comment was published, as GMT.' },
  parent: { type: 'integer', ...argumentBounds.id, description: 'The ID for the parent of the comment.' },
  post: { type: 'integer', ...argumentBounds.id, description: 'The ID of the associated post object.' },
  status: {
    type: 'string',
    enum: ['approve', 'approved', '1', 'hold', '0', 'spam', 'unspam', 'trash', 'untrash'],
    description: 'State of the comment.',
  },
  type: { type: 'string', ...argumentBounds.key, description: 'Type of the comment: comment.' },
};

export const commentListArguments: Readonly<Record<string, RouteArgument>> = {
  ...collectionArguments,
  after: {
    ...momentArgument,
    description: 'Limit response to comments published after a given ISO8601 compliant date.',
  },
  before: {
    ...momentArgument,
    description: 'Limit response to comments published before a given ISO8601 compliant date.',
  },
  author: { ...idsArgument, description: 'Limit result set to comments assigned to specific user IDs.' },
  author_exclude: { ...idsArgument, description: 'Ensure result set excludes comments assigned to specific user IDs.' },
  author_email: {
    type: 'string',
    format: 'email',
    ...argumentBounds.line,
    description: 'Limit result set to that from a specific author email.',
  },
  order: orderArgument('desc'),
  orderby: {
    description: 'Sort collection by comment attribute.',
    type: 'string',
    default: 'date_gmt',
    enum: ['date', 'date_gmt', 'id', 'include', 'post', 'parent', 'type'],
  },
  parent: { ...idsArgument, description: 'Limit result set to comments of specific parent IDs.' },
  parent_exclude: { ...idsArgument, description: 'Ensure result set excludes specific parent IDs.' },
  post: { ...idsArgument, description: 'Limit result set to comments assigned to specific post IDs.' },
  status: {
    description: 'Limit result set to comments assigned a specific status.',
    type: 'string',
    default: 'approve',
    enum: ['approve', 'approved', 'hold', 'spam', 'trash', 'all', 'any'],
  },
  type: {
    description: 'Limit result set to comments assigned a specific type.',
    type: 'string',
    default: 'comment',
    ...argumentBounds.key,
  },
  password: passwordArgument,
};
