// SPDX-License-Identifier: BSD-2-Clause
//
// What tests in Node need of the page without a server.
export { EngineModule } from '../../src/static/engine_module.ts';
export { Host, answerWhatIf } from '../../src/static/host.ts';
export { Images } from '../../src/static/images.ts';
