import { isRecord } from '#plugin-api';
import { laterUsage, listAt, objectAt, textAt, usageIn, type JsonObject } from '../json.ts';
import { errorInside, parseEvent, type OpenTextStream } from '../streams/read-events.ts';
import { functionCallParts, googleReport, googleResponse, partsText } from './google-response.ts';

/**
 * Reads the pieces of streamGenerateContent, each a complete response. The last one has a finish reason or a block reason.
 * Usage is cumulative.
 */
export const createGoogleStream: OpenTextStream = (request, connection, onText) => {
  let content = '';
  let thoughts = '';
  const calls: unknown[] = [];
  let last: JsonObject = {};
  let candidate: JsonObject | undefined;
  let received: JsonObject | null = null;

  const takePiece = (piece: JsonObject): void => {
    const usageMetadata = laterUsage(last['usageMetadata'], usageIn(piece, 'usageMetadata'));
    const modelVersion = textAt(piece, 'modelVersion') ?? last['modelVersion'];
    last = { ...last, ...piece, usageMetadata, modelVersion };
    if (Boolean(piece['error'])) throw errorInside(piece, connection);
    const found = listAt(piece, 'candidates')[0];
    if (!isRecord(found)) return;
    candidate = { ...candidate, ...found };
    const text = partsText(found);
    content += text;
    const thought = partsText(found, true);
    thoughts += thought;
    if (thought !== '') connection.onReasoning?.({ text: thought });
    calls.push(...functionCallParts(found));
    if (text !== '') onText(text);
  };

  return {
    take({ data }) {
      takePiece(parseEvent(data));
      return false;
    },
    whole(body) {
      received = body;
    },
    report: () =>
      received === null
        ? { ...googleReport(last), written: thoughts + content + (calls.length > 0 ? JSON.stringify(calls) : '') }
        : googleReport(received),
    isComplete: () =>
      textAt(candidate, 'finishReason') !== null || textAt(objectAt(last, 'promptFeedback'), 'blockReason') !== null,
    result() {
      const parts = [...(thoughts === '' ? [] : [{ text: thoughts, thought: true }]), { text: content }, ...calls];
      const candidates = candidate === undefined ? [] : [{ ...candidate, content: { parts } }];
      const result = googleResponse(received ?? { ...last, candidates }, request, connection);
      if (received !== null && result.content !== '') onText(result.content);
      return result;
    },
  };
};
