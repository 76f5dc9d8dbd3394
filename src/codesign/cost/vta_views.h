/* What the report shows of a stream: stages over time, fill of the SRAMs, work of the stages, roofline. */
#ifndef MERCATOR_CODESIGN_VTA_VIEWS_H
#define MERCATOR_CODESIGN_VTA_VIEWS_H

#include "codesign/cost/timing.h"
#include "mercator/notes.h"

void mer_vta_show(const MerVtaTask *task, const MerVtaSchedule *schedule,
                  const MerVtaTiming *timing, double macs, MerNotes *notes);

#endif
