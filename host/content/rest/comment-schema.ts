import { argumentBounds, pagingArguments } from '#plugin-api';
import type { JsonSchema, RouteArgument } from '#plugin-api';
import { contextArgument, passwordArgument } from './context.ts';

const everywhere = ['view', 'edit', 'embed'];
const shown = ['view', 'edit'];
const edit = ['edit'];

/** The REST schema of a comment. `context` lists where each member appears. */
export const commentSchema: JsonSchema = {
  title: 'comment',
  type: 'object',
  properties: {
    id: { type: 'integer', description: 'Unique identifier for the comment.', context: everywhere, readOnly: true },
    author: { type: 'integer', description: 'The ID of the user, if the author was a user.', context: everywhere },
    author_email: { type: 'string', description: 'Email address for the comment author.', context: edit },
    author_ip: { type: 'string', description: 'IP address for the comment author.', context: edit },
    author_name: { type: 'string', description: 'Display name for the comment author.', context: everywhere },
    author_url: { type: 'string', description: 'URL for the comment author.', context: everywhere },
    author_user_agent: { type: 'string', description: 'User agent for the comment author.', context: edit },
    content: {
      type: 'object',
      description: 'The content for the comment.',
      context: everywhere,
      properties: {
        raw: { type: 'string', context: edit },
        rendered: { type: 'string', context: everywhere, readOnly: true },
      },
    },
    date: {
      type: 'string',
      format: 'date-time',
      description: "The date the comment was published, in the site's timezone.",
      context: everywhere,
    },
    date_gmt: {
      type: 'string',
      format: 'date-time',
      description: 'The date the comment was published, as GMT.',
      context: shown,
    },
    link: { type: 'string', format: 'uri', description: 'URL to the comment.', context: everywhere, readOnly: true },
    parent: { type: 'integer', description: 'The ID for the parent of the comment.', context: everywhere },
    post: { type: 'integer', description: 'The ID of the associated post object.', context: shown },
    status: { type: 'string', description: 'State of the comment.', context: shown },
    type: { type: 'string', description: 'Type of the comment.', context: everywhere, readOnly: true },
    author_avatar_urls: {
      type: 'object',
      description: 'Avatar URLs for the comment author.',
      context: everywhere,
      readOnly: true,
    },
    meta: { type: 'object', description: 'Meta fields.', context: shown },
  },
};

export const commentIdArgument: RouteArgument = {
  description: 'Unique identifier for the comment.',
  type: 'integer',
  ...argumentBounds.id,
};

const moment: RouteArgument = { type: 'string', format: 'date-time', ...argumentBounds.dateTime };
const ids: RouteArgument = { type: 'array', ...argumentBounds.list, items: { type: 'integer', ...argumentBounds.id } };

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
  date: { ...moment, description: "The date the comment was published, in the site's timezone." },
  date_gmt: { ...moment, description: 'The date the comment was published, as GMT.' },
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
  context: contextArgument,
  ...pagingArguments,
  search: { description: 'Limit results to those matching a string.', type: 'string', ...argumentBounds.line },
  after: { ...moment, description: 'Limit response to comments published after a given ISO8601 compliant date.' },
  before: { ...moment, description: 'Limit response to comments published before a given ISO8601 compliant date.' },
  author: { ...ids, description: 'Limit result set to comments assigned to specific user IDs.' },
  author_exclude: { ...ids, description: 'Ensure result set excludes comments assigned to specific user IDs.' },
  author_email: {
    type: 'string',
    format: 'email',
    ...argumentBounds.line,
    description: 'Limit result set to that from a specific author email.',
  },
  include: { ...ids, description: 'Limit result set to specific IDs.' },
  exclude: { ...ids, description: 'Ensure result set excludes specific IDs.' },
  offset: {
    description: 'Offset the result set by a specific number of items.',
    type: 'integer',
    ...argumentBounds.id,
  },
  order: { description: 'Order sort attribute.', type: 'string', default: 'desc', enum: ['asc', 'desc'] },
  orderby: {
    description: 'Sort collection by comment attribute.',
    type: 'string',
    default: 'date_gmt',
    enum: ['date', 'date_gmt', 'id', 'include', 'post', 'parent', 'type'],
  },
  parent: { ...ids, description: 'Limit result set to comments of specific parent IDs.' },
  parent_exclude: { ...ids, description: 'Ensure result set excludes specific parent IDs.' },
  post: { ...ids, description: 'Limit result set to comments assigned to specific post IDs.' },
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
